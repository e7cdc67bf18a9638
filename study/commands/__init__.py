"""Programs that are no stages: a question, a comparison, a repair, a worker."""
