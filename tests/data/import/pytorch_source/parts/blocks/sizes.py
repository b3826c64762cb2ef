width = 24
kernel = (3, 3)
