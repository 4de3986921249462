"""How often will each edge run?"""
