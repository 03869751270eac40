"""What an organiser does with a league besides playing it: verify, mend, merge, disqualify."""
