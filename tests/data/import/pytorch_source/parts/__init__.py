from .net import Net

steps = 2
