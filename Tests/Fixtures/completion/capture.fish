# SPDX-License-Identifier: Apache-2.0
# Says what fish offers for each line of standard input: fish --no-config capture.fish SCRIPT
#
# A line `> LINE`, then the candidates, a line each, without what they are for.
source $argv[1]
for line in (cat)
    echo "> $line"
    complete -C $line | string replace -r '\t.*' ''
end
exit 0
