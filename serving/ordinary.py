"""Ordinary sentences of no particular life: what a memory stands out from while a person has few memories.

They are measured with the same embedder and the same terms as the memories, so that a relevance means the same for
the tenth memory as for the ten thousandth, and for each embedder. They are never shown and never found.
"""

from __future__ import annotations

from tasks.questions import Language

_ZH = """
他把旧自行车推到楼下修了一下午。
小区门口新开了一家理发店。
她在阳台上种了几盆薄荷。
公交车晚点了二十分钟。
他们周末去郊外看了一场露天电影。
孩子在学校运动会上得了第三名。
会议改到下周二上午十点。
邻居送来一袋刚摘的橘子。
他决定把头发剪短。
她终于读完了那本很厚的小说。
厨房的水龙头又开始滴水。
爷爷每天早上在湖边打太极。
同事推荐了一款做笔记的软件。
他因为堵车错过了火车。
她给妹妹织了一条围巾。
这次体检的结果一切正常。
他们商量着要不要换一台冰箱。
球队在最后一分钟追平了比分。
她报名参加了日语初级班。
夜里下了一场很大的雨。
他把工资的一部分存成了定期。
餐馆的老板记得她爱吃的菜。
他们在机场等了三个小时。
弟弟把手机掉进了水里。
她在面试的时候有点紧张。
老师表扬了全班的作文。
他们为装修的颜色争了几句。
他学着自己烤面包。
她和大学室友通了一个长电话。
公司要求大家填一份问卷。
他答应月底之前交稿。
她把照片按年份整理好了。
他们领养了一只流浪猫。
他为了省钱开始自己带饭。
她在山顶看到了日出。
朋友的婚礼定在秋天。
他最近睡得不太好。
她把不穿的衣服捐了出去。
他在网上买的椅子少了一颗螺丝。
她觉得这部电视剧的结局很可惜。
"""
_EN = """
He spent the afternoon fixing an old bicycle.
A new barber opened across the street.
She planted mint on the balcony.
The bus was twenty minutes late.
They watched an open-air film on the weekend.
The boy came third in the school race.
The meeting was moved to Tuesday at ten.
A neighbour brought a bag of oranges.
He decided to cut his hair short.
She finally finished that thick novel.
The kitchen tap is dripping again.
Grandfather does tai chi by the lake every morning.
A colleague recommended an app for taking notes.
He missed the train because of the traffic.
She knitted a scarf for her sister.
The results of the check-up were all normal.
They talked about buying a new fridge.
The team equalised in the last minute.
She signed up for a beginners' course in Japanese.
It rained heavily during the night.
He put part of his salary into savings.
The owner of the restaurant knows what she likes.
They waited at the airport for three hours.
Her brother dropped his phone into the water.
She was a little nervous in the interview.
The teacher praised the essays of the whole class.
They argued about the colour of the walls.
He is learning to bake bread.
She had a long call with her old roommate.
The company asked everybody to fill in a survey.
He promised to deliver the draft by the end of the month.
She sorted the photos by year.
They adopted a stray cat.
He started to bring his own lunch to save money.
She saw the sunrise from the top of the mountain.
The friends will marry in autumn.
He has not been sleeping well lately.
She gave away clothes she no longer wears.
The chair he bought online lacked a screw.
She thought the ending of the series was a pity.
"""

SENTENCES: dict[Language, tuple[str, ...]] = {"zh": tuple(_ZH.split("\n")[1:-1]), "en": tuple(_EN.split("\n")[1:-1])}
