"""Sentences and figures as text, the same for the terminal and for pages; also the pages of the documentation."""
