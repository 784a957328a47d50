// SPDX-License-Identifier: Apache-2.0
import SQL

/// A form with a table of each kind of column.
let things = [
    Migration(
        1,
        statements: [
            "CREATE TABLE things (id {serial}, number BIGINT, name TEXT UNIQUE, content {bytes})",
            "CREATE TABLE codes (code BIGINT PRIMARY KEY, used BIGINT NOT NULL)",
        ])
]
