"""Audits: what makes a judge less trustworthy, one file each."""
