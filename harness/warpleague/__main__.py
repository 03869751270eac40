"""`python -m warpleague`: the same as the command `warpleague`.

Leaves everything to `warpleague.cli`.
"""

import sys

from warpleague.cli import main

sys.exit(main())
