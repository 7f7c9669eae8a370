"""OpIndex (Zhang, Chan, Tan 2014): predicates by pivot attribute and operator, in sorted lists."""
