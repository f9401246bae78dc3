"""Synthetic data of the demo project: texts and labels made up for it, under the project's licence."""
