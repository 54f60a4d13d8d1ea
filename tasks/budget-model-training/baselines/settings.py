"""What differs in training from the other task with images."""

COLUMN = "class"
DATA = "house-stripes"
IMAGES = 6400  # seen in training, the budget
RATE = 6e-3  # the highest of its cycle
