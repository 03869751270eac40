"""Parts that all processes of an arena use: a log, bounds for folders, and an end with the parent process.

log              one JSON object a line, on standard error
retention        keeps folders of files within a bound
end_with_parent  ends a process when the one that started it ends
"""
