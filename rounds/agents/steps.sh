#!/bin/sh
# An author that improves its bot in steps: in each round the bot follows a plan in a quarter of its decisions more.
# The argument is the file with the plan.
set -eu
cp "$1" bot/plan.py
care=$((25 * WARPLEAGUE_ROUND))
[ "$care" -lt 100 ] || care=100
sed -i "s|^CARE = [0-9. /]*|CARE = $care / 100  |" bot/bot.py
echo "The bot follows the plan in $care % of its decisions."
