import { describe, expect, it } from 'vitest'
import {
  type Block,
  copyBlock,
  countMissing,
  createBlock,
  type Draft,
  hasFault,
  listConditions,
  listTexts,
  moveItem,
  readColumns,
  writeBlocks,
} from '../src/pages/email-messages/blocks'
import { setText } from '../src/parts/content-languages'

const text = (texts: Record<string, string>, condition?: string): Block => ({
  ...createBlock('rich_text'),
  condition,
  data: { text: texts },
})
const columns = (...blocks: Block[]): Block => ({
  ...createBlock('columns'),
  data: { columns: [{ blocks }, { blocks: [] }] },
})
const draft = (blocks: Block[]): Draft => ({
  title: 'Doors',
  type: 'campaign',
  subject: { en: 'Doors', da: 'Døre' },
  preheader: {},
  blocks,
})

describe('the texts of a message', () => {
  it('are counted as missing in a language where another language has them, in columns too', () => {
    const texts = listTexts(
      draft([text({ en: 'Hello' }), columns(text({ en: 'A', da: 'B' }), text({ en: 'C', da: ' ' }))]),
    )
    expect([countMissing(texts, 'en'), countMissing(texts, 'da'), countMissing(texts, 'pl')]).toEqual([0, 2, 4])
  })

  it('lose a language whose text is emptied', () => {
    expect(setText({ en: 'A', da: 'B' }, 'da', '')).toEqual({ en: 'A' })
  })
})

describe('blocks', () => {
  it('move without loss to any place', () => {
    expect(moveItem(['a', 'b', 'c'], 0, 2)).toEqual(['b', 'c', 'a'])
    expect(moveItem(['a', 'b', 'c'], 2, 0)).toEqual(['c', 'a', 'b'])
    expect(moveItem(['a', 'b', 'c'], 5, 0)).toEqual(['a', 'b', 'c'])
  })

  it('are copied with ids of their own, in columns too', () => {
    const original = columns(text({ en: 'A' }))
    const copy = copyBlock(original)
    const ids = [original, copy].flatMap((block) => [block.id, readColumns(block)[0]?.blocks[0]?.id])
    expect(new Set(ids).size).toBe(4)
    expect(readColumns(copy)[0]?.blocks[0]?.data).toEqual({ text: { en: 'A' } })
  })

  it('are sent without empty fields, and an image of a file without an address', () => {
    const image = { ...createBlock('image'), data: { file_id: 'fil_1', url: 'https://example.com/a.png', alt: {} } }
    const button = { ...createBlock('button'), data: { text: { en: 'Buy' }, url: '', color: undefined } }
    const [first, second] = JSON.parse(JSON.stringify(writeBlocks([image, columns(button)])))
    expect(first.data).toEqual({ file_id: 'fil_1', alt: {} })
    expect(second.data.columns[0].blocks[0].data).toEqual({ text: { en: 'Buy' } })
  })

  it('name each condition once, and the fault that lies in them', () => {
    const blocks = [text({}, 'user.is_active'), columns(text({}, 'user.is_active'), text({}, 'stats.order_count > 1'))]
    expect(listConditions(blocks)).toEqual(['user.is_active', 'stats.order_count > 1'])
    expect(hasFault({ 'blocks.1.data.url': 'No.' }, 'blocks.1')).toBe(true)
    expect(hasFault({ 'blocks.11.data.url': 'No.' }, 'blocks.1')).toBe(false)
  })
})
