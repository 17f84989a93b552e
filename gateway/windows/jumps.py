"""What a jump of the clock does to a timeline: the contents on it may no longer know the same.

The gateway's times move along, devices' own do not, so places change; and what had left one content
is there still for another, and may come to lie where the first one begins. Where that can be, each
content goes on with a timeline of its own, which has what it had.
"""

from gateway.windows.timeline import Timeline


def put_forward(timeline: Timeline, by: int) -> list[Timeline]:
    """The timelines of the contents from now on; each heeds the jump in its next step."""
    timelines = [timeline] if _keeps_order(timeline, by) else _divided(timeline)
    for each in timelines:
        each.jump(by)
    return timelines


def _keeps_order(timeline: Timeline, by: int) -> bool:
    """Whether what has left stays behind: all begin later by at least what elements moved."""
    watermark = timeline.watermark
    is_even = by > 0 and not watermark.is_stepped and not watermark.is_of_stream
    return is_even or len(timeline.contents) == 1


def _divided(timeline: Timeline) -> list[Timeline]:
    divided = []
    for content in list(timeline.contents):
        own = Timeline(timeline.watermark.clone(), timeline.budget)
        own.take(content, timeline)
        divided.append(own)
    timeline.release()
    return divided
