"""What differs in training from the other task with images."""

COLUMN = "digit_sum"
DATA = "house-digits"
IMAGES = 12_800  # seen in training, the budget
RATE = 1e-2  # the highest of its cycle
