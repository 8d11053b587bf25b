"""Figures of runs and studies.

Figures only draw: numbers come in as tables, from records and metrics. Each builder gives a
:class:`~skycell.plots.figure.Figure`, which a notebook shows and :func:`~skycell.plots.export.save`
writes as SVG, PDF, PNG or a page that works without a network.
"""
