"""Sends deliveries to the webhooks of subscriptions: signed, in order, at least once.

`targets` checks where somebody wants to be called, `addresses` connects to no address that is not
open to everybody, `messages` makes and signs what is sent, `sending` sends one and says what became
of it, `outbox` says what is to be sent next, `standing` writes what became of it within the
transactions of the log, `dispatch` is the thread that does it all, `routes` its addresses.
"""
