/** Simplified Chinese texts of the page where administrators write incidents. */
import type { incidents as english } from '../en/incidents.ts';
import type { Translation } from '../translation.ts';

export const incidents: Translation<typeof english> = {
  incidents: {
    sentence: '状态页上所有人都能看到的事件和维护。',
    page: '打开状态页',
    new: '新建事件',
    newSentence: '它会立即出现在状态页和订阅中。',
    publish: '发布',
    published: '事件已发布。',
    update: '发布进展',
    updated: '进展已发布。',
    remove: '删除',
    removeTask: '删除…',
    removeTitle: '删除“{{title}}”',
    removeSentence: '仅用于误发的事件。审计日志会保留其内容。',
    removed: '事件已删除。',
    kind: '类型',
    title: '标题',
    message: '给用户的说明',
    starts: '开始时间（UTC）',
    ends: '结束时间（UTC）',
    models: '受影响的模型。不选表示全部。',
    families: '受影响的接口。不选表示全部。',
    none: '还没有事件',
    noneSentence: '请求失败时或计划维护之前，请在此发布。',
  },
};
