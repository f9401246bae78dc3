"""People and what they said: items, rubrics, presentations and labels."""
