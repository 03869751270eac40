"""The work of an organiser besides playing: verify, mend, merge, disqualify."""
