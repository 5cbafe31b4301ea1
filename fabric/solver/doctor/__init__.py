"""Why a measured collective is slower than estimated: where its curve leaves the band, and the likely causes in order."""
