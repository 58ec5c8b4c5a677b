"""Generator of the example robots and scenes; run through `make_models.py`."""
