"""`python -m warpleague`: the same as the command `warpleague`."""

import sys

from warpleague.cli import main

sys.exit(main())
