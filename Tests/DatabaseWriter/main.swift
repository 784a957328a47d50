// SPDX-License-Identifier: Apache-2.0
// database-writer PATH: writes numbers into the SQLite database at PATH for ever, from many tasks,
// and prints each when it is acknowledged: what a test kills to see what is kept.

await write(to: CommandLine.arguments[1])
