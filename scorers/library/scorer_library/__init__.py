"""What several scorers compute with; the stages around it, submissions and devices are in mlrb_kit."""
