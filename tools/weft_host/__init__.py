"""The host command of weft: boots guests, measures, debugs.

It speaks to the guest only through the serial console and the initial RAM disk.
"""
