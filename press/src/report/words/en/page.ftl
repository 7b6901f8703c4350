# What a page says of itself, around the article.
page-skip = Skip to the article
page-contents = Contents
page-data = The data behind this article
page-carried = This file is its own archive: it holds every record of { $runs ->
    [one] the run
   *[other] the { $runs } runs
} that the article is made from. The command below brings { $runs ->
    [one] it
   *[other] them
} into the store of another stend; the second makes this very file again.
page-command = Bring it back
page-rounded = The readings of probes in this file are rounded to { $digits } significant digits, because the file would be too large otherwise. No word of the article depends on it; samples are as measured.
page-back = Previous point
page-on = Next point
page-points = Points of { $figure }; arrow keys walk them
page-csv = Data as CSV
page-bundle = Download the records as JSON
