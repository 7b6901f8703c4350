# What a figure says besides the names and numbers that it shows.
drawn-kicker = Figure { $number }
# A name that is too long for its place, by its number.
drawn-numbered = { $number }  { $name }

# What is plotted. The direction is `higher is better` and the like.
drawn-over = { $values } over { $positions }
drawn-over-from = { $values } over { $positions } from { $first } to { $last }
drawn-directed = { $plotted }, { $direction }
drawn-ratios = Ratios beside no change: { $plotted }.
drawn-cells = Cells: { $plotted }.
drawn-dots = Dots: { $plotted }.
drawn-lines = Lines: { $plotted }.
drawn-shares = Shares: { $plotted }.
drawn-attempts = Attempts: { $plotted }.
drawn-steps = Steps: { $plotted }.
drawn-under-roofs = Points under roofs: { $plotted }.
drawn-beside-roofs = Points beside roofs: { $plotted }.

# Places and stretches.
drawn-at = { $value } at { $position }
drawn-at-most = { $share } at most { $value }
drawn-to = { $from } to { $end }

# How a line runs.
drawn-level = stays level from { $first } to { $last }
drawn-rises = rises from { $first } to { $last }
drawn-falls = falls from { $first } to { $last }
drawn-highest = { $course }, highest { $point }
drawn-lowest = { $course }, lowest { $point }
drawn-cross = { $one } and { $other } cross between { $from } and { $end }.

# What does not count.
drawn-no-point = no valid point
drawn-no-ratio = no ratio
drawn-no-attempt = no valid attempt
drawn-invalid = invalid
drawn-undecided = undecided
drawn-dry = dry
drawn-is-invalid = { $name } invalid
drawn-not-averaged = invalid, not averaged in
drawn-not-counted = dry, not counted
drawn-hollow-points = { $count ->
    [one] { $count } invalid point is shown hollow.
   *[other] { $count } invalid points are shown hollow.
}
drawn-hollow-rows = { $count ->
    [one] { $count } undecided row is shown hollow.
   *[other] { $count } undecided rows are shown hollow.
}
drawn-small-attempts = { $count ->
    [one] { $count } dry attempt is shown small.
   *[other] { $count } dry attempts are shown small.
}
drawn-hatched = Invalid cells are hatched.

# What the signs of a table of ratios mean.
drawn-ratio-above = { $sign } from { $bound }
drawn-ratio-below = { $sign } to { $bound }
drawn-ratio-between = { $sign } between

# The attempts of a series.
drawn-attempts-of = { $count ->
    [one] { $count } attempt at { $first }, { $values }
   *[other] { $count } attempts from { $first } to { $last }, { $values }
}

# A part of a whole.
drawn-up = up from { $from } to { $end }
drawn-down = down from { $from } to { $end }

# Roofs, and the points under them.
drawn-roof-bends = Roof { $name }: rises to { $level } at { $position }, then level.
drawn-roof-level = Roof { $name }: level at { $level }.
drawn-roof-rises = Roof { $name }: rises with { $positions }.
drawn-unbound = No roof binds from { $apart }.
drawn-bound = { $point }, bound by { $roof }
drawn-under = { $name }, under { $roof }
