"""Synthetic data of the demo project: texts and labels written for this project, MIT like the project."""
