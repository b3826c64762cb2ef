from .conv import *
from . import sizes
