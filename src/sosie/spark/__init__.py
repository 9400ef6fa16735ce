"""THE SAME ON A CLUSTER? The verbs on Spark: DataFrames in, DataFrames out, pair for pair what one machine finds."""
