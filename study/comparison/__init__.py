"""From every model's figures to the tables of the comparison: functions without files."""
