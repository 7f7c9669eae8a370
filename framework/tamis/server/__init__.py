"""Serves matches over HTTP from one durable, totally ordered log.

`log` is the log, in the order of which everything happens: `database` and `schema` hold it,
`changes` are what happens and `ledger` writes them, `writer` commits them in groups, `witness`
knows where the log ended, `payloads` keeps what is large, `reading` reads. A 201 or 202 means that
the commit is on disk. `matching` follows the log behind that: event e meets exactly the
subscriptions live at its position, and its verdict, its deliveries and the cursor are one commit.
`webhooks` sends what is due to those who want to be called.
The alternative, to match before an event is acknowledged, is one thread less; but then publishers
wait for operators instead of for the disk, and one slow call stops renewals and cancellations too.
Others may import what stands here, and `client`, `database`, `journal`, `service`,
`serving` and `webhooks`.
"""
