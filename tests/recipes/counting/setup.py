from setuptools import Extension, setup

setup(name="counting", version="1", ext_modules=[Extension("counting", ["counting.c"])])
