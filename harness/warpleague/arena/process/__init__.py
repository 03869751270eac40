"""What the processes of an arena share: their log, bounds for folders of files, and an end with their parent.

log              one JSON object a line, on standard error
retention        keeps folders of files within a bound
end_with_parent  ends a process when the one that started it ends
"""
