#!/bin/sh
# Records while every write and flush is logged, and what the recorder promises with them; power_cut.py then cuts the power
# at many moments.
#: drive a size=20M log=yes
#: drive b size=20M log=yes logical_block_size=4096
#: drive c size=24M log=yes
#: drive m size=1M log=yes
#: modules nvme
#: after power_cut.py
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/marked.sh"

it "promises while it records" marked adaptive
finish
