# Makes the golden figures that come from R: Rscript make.R IN OUT
# IN: a line a sample: n, then values; then lines "holm" with p values. OUT: lines of figures.
arguments <- commandArgs(trailingOnly = TRUE)
out <- file(arguments[2], "w")
number <- function(x) paste(sprintf("%.17g", x), collapse = " ")
cat(as.character(getRversion()), "\n", file = out)
for (line in readLines(arguments[1])) {
  words <- strsplit(line, " ")[[1]]
  x <- as.numeric(words[-1])
  if (words[1] == "holm") {
    cat(number(p.adjust(x, "holm")), "\n", file = out)
    next
  }
  for (level in c(0.9, 0.95, 0.975, 0.9875)) {
    if (2^(1 - length(x)) > 1 - level) next
    test <- wilcox.test(x, exact = TRUE, conf.int = TRUE, conf.level = level)
    cat(number(c(level, test$conf.int, test$estimate, test$p.value)), "\n", file = out)
  }
  for (side in c("greater", "less")) {
    test <- wilcox.test(x, mu = 0.02, exact = TRUE, alternative = side)
    cat(number(test$p.value), "\n", file = out)
  }
}
close(out)
