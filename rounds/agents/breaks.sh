#!/bin/sh
# An author that breaks its bot in round 2, reads why it failed in round 3, and repairs it.
# The argument is the file with a plan.
set -eu
case $WARPLEAGUE_ROUND in
1)
    cp "$1" bot/plan.py
    sed -i 's|^CARE = 0.0|CARE = 0.3|' bot/bot.py
    ;;
2)
    echo 'this is no Python' >>bot/bot.py
    ;;
3)
    grep -o '"ready": [a-z]*' rounds/02/check.json
    sed -i '/this is no Python/d; s|^CARE = 0.3|CARE = 0.6|' bot/bot.py
    ;;
esac
