"""What a text names must stand in what it was made from, however it is written there."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.grounding import claimed_names, grounded, ungrounded
from tasks.quantities import arabic, quantities


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("下午3点开会", "下午三点开会"),
        ("15:00 开会", "下午三点开会"),
        ("3点开会", "15:00开会"),
        ("八点半出门", "晚上8:30出门"),
        ("2023年5月24日去了巴黎", "2023-05-24 去了巴黎"),
        ("5月24日去了巴黎", "2023-05-24 去了巴黎"),
        ("2023年5月去了巴黎", "2023-05-24 去了巴黎"),
        ("On May 24, 2023 she flew", "2023/5/24 flew"),
        ("on the 24th of May", "May 24 is the day"),
        ("花了30000元", "花了3万块"),
        ("花了三万五千元", "花了35,000"),
        ("跑了5公里", "跑了五公里"),
        ("等了30分钟", "等了半小时"),
        ("等了90分钟", "等了一个半小时"),
        ("涨了30%", "涨了百分之三十"),
        ("二十五岁", "25岁了"),
        ("他有3件事要做", "买菜、做饭、洗碗"),
        ("两个人一起去了", "我和小红去了"),
        ("万一下雨就十分麻烦", "可能下雨"),
        ("两三天后再说", "过几天再说"),
        ("她看了《三体》", "我在看三體"),
        ("发到 a.b@example.com", "我的邮箱a.b@example.com"),
        ("见 https://example.com/a?b=1。", "https://example.com/a?b=1"),
        ("联系 @ming_88", "我是@Ming_88"),
        ("小狗名叫豆豆，很可爱", "我家小狗豆豆"),
        ("他说“我真的太累了”", "累死了"),
        ("最爱「豆豆」", "豆豆最好"),
        ("４００ 元", "400元"),
        ("24号去", "2023-05-24 去"),
        ("等了2小时", "等了120分钟"),
    ],
)
def test_the_same_thing_written_otherwise_is_grounded(text: str, source: str) -> None:
    assert ungrounded(text, [source]) == []


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("下午4点开会", "4点"),
        ("花了300元", "300元"),
        ("跑了6公里", "6公里"),
        ("2023年6月24日去了巴黎", "2023年6月24日"),
        ("2022年去了巴黎，2022-05-24", "2022-05-24"),
        ("见 https://example.com/b", "https://example.com/b"),
        ("联系 @other", "@other"),
        ("发到 b@example.com", "b@example.com"),
        ("她看了《活着》", "活着"),
        ("小狗名叫诺诺", "诺诺"),
        ("她昵称“诺诺”", "诺诺"),
        ("电话 13800000000", "13800000000"),
        ("a dog named Rex", "Rex"),
        ("二十七岁", "27岁"),
        ("paid $77", "77"),
        ("花了24元", "24元"),
        ("等了15小时", "15小时"),
    ],
)
def test_what_stands_nowhere_is_named(text: str, missing: str) -> None:
    source = (
        "2023-05-24 15:00 我今年25岁，小狗豆豆，花了30元跑了5公里，在看《三体》 "
        "https://example.com/a @ming a@example.com"
    )
    assert any(missing in name for name in ungrounded(text, [source]))
    assert not grounded(text, [source])


def test_a_relative_date_reaches_two_weeks() -> None:
    assert ungrounded("他5月23日面试了", ["2023-05-24 00:20 昨天面试"]) == []
    assert ungrounded("他5月23日面试了", ["2023-05-24 00:20 面试好难"]) == ["5月23日"]
    assert ungrounded("他4月1日面试了", ["2023-05-24 00:20 昨天面试"]) == ["4月1日"]
    assert ungrounded("On May 26 she moves", ["2023-05-24 10:00 I move next Friday"]) == []


def test_a_nickname_only_the_assistant_used_proves_nothing() -> None:
    said, mine = ["诺诺今天真棒", "今天好累"], ["今天好累"]
    assert ungrounded("她昵称诺诺", said) == []
    assert ungrounded("她昵称诺诺", said, own_words=mine) == ["诺诺"]
    assert claimed_names("外号叫“阿刀”，网名是小鱼") == ["阿刀", "小鱼"]


@pytest.mark.parametrize(
    ("numeral", "digits"),
    [
        ("二十五", "25"), ("十", "10"), ("十二", "12"), ("两百零五", "205"), ("一百二", "120"), ("一百二十三", "123"),
        ("一万二", "12000"), ("三万五千", "35000"), ("两万零五十", "20050"), ("一亿", "100000000"), ("3万", "30000"),
        ("二〇二三", "2023"), ("一千零一", "1001"), ("十万", "100000"), ("二十万", "200000"), ("3.5万", "35000"),
    ],
)  # fmt: skip
def test_chinese_numerals(numeral: str, digits: str) -> None:
    assert arabic(numeral) == digits


@given(st.dates(min_value=date(1990, 1, 1), max_value=date(2099, 12, 31)))
def test_every_form_of_a_date_is_the_same_date(day: date) -> None:
    zh = f"{day.year}年{day.month}月{day.day}日"
    en = f"{day:%B} {day.day}, {day.year}"
    forms = [zh, en, day.isoformat(), f"{day.year}/{day.month}/{day.day}", f"{day.month}月{day.day}号"]
    assert all(ungrounded(form, [other]) == [] for form in forms for other in forms[:4])
    wrong = day + timedelta(days=1)
    assert ungrounded(wrong.isoformat(), [zh]) == [wrong.isoformat()]


@given(st.integers(min_value=10, max_value=10**7), st.integers(min_value=10, max_value=10**7))
def test_a_number_is_grounded_in_itself_alone(number: int, other: int) -> None:
    found = ungrounded(f"一共{number}元", [f"付了{other}元"])
    assert found == ([] if number == other else [f"{number}元"])


@given(st.text(max_size=200))
def test_a_text_is_grounded_in_itself(text: str) -> None:
    assert ungrounded(text, [text]) == []


@given(st.text(alphabet="一二三四五六七八九十百千万零两点年月日半", max_size=30))
def test_no_heap_of_numerals_breaks_it(text: str) -> None:
    assert all(isinstance(value, Decimal) for value in quantities(text).numbers)
