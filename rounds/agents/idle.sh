#!/bin/sh
# An author that changes nothing.
echo "Round $WARPLEAGUE_ROUND: nothing to do."
