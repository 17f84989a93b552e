"""`python -m spark_batch JOB …`."""

import sys

from spark_batch.cli import main

sys.exit(main())
