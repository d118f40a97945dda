import type { OrderSummaryData } from '../blocks/blocks.ts'
import { escapeHtml, escapeLiquid, textToHtml } from '../escape.ts'
import { light } from '../blocks/theme.ts'
import { type TextReader, wordsOf } from './words.ts'

const totals = ['subtotal', 'deposit', 'handling_fee', 'service_fee', 'discount', 'total', 'tax'] as const

const line = `border-bottom:1px solid ${light.line}`
const start = `padding:10px 8px 10px 0;text-align:left;vertical-align:top;${line}`
const middle = `padding:10px 8px;text-align:center;vertical-align:top;white-space:nowrap;${line}`
const end = `padding:10px 0 10px 8px;text-align:right;vertical-align:top;white-space:nowrap;${line}`
const head = `font-size:13px;font-weight:600;color:${light.muted}`
const small = `font-size:13px;color:${light.muted}`

const when = (name: string, inside: string): string => `{% unless ${name} == blank %}${inside}{% endunless %}`

/** The lines of an order and its totals: rows of a table, and plain text. */
export function orderSummary(data: OrderSummaryData, reader: TextReader): { rows: string; text: string } {
  const { phrases } = reader
  const word = (key: (typeof totals)[number] | 'item' | 'quantity' | 'amount') => escapeHtml(phrases[key])
  const title = wordsOf(data.title, reader)
  const withPrices = data.show_prices ?? true
  const withTotals = data.show_totals ?? true
  const [before = '', after = ''] = phrases.more.split('%n')
  const details = ['item.variant', 'item.location', 'item.options']

  const price = (inside: string) => (withPrices ? inside : '')
  const totalRow = (name: (typeof totals)[number]): string => {
    const weight = name === 'total' ? 'font-size:17px;font-weight:700' : 'font-weight:400'
    const [label, amount] = [
      `padding:6px 8px 6px 0;text-align:left;${weight}`,
      `padding:6px 0 6px 8px;text-align:right;white-space:nowrap;${weight}`,
    ]
    return when(
      `order.${name}`,
      `<tr><td colspan="2" style="${label}">${word(name)}</td><td style="${amount}">{{ order.${name} }}</td></tr>`,
    )
  }
  const span = withPrices ? 3 : 2
  const rows = [
    title
      ? `<tr><td colspan="${span}" style="padding:0 0 8px;font-size:18px;font-weight:700;text-align:left">${textToHtml(title)}</td></tr>`
      : '',
    `<tr><th scope="col" class="mu" style="width:60%;${start};${head}">${word('item')}</th><th scope="col" class="mu" style="${middle};${head}">${word('quantity')}</th>`,
    price(`<th scope="col" class="mu" style="${end};${head}">${word('amount')}</th>`),
    '</tr>{% for item in order.items %}',
    `<tr><td style="${start}"><strong>{{ item.name }}</strong>`,
    ...details.map((name) => when(name, `<br /><span class="mu" style="${small}">{{ ${name} }}</span>`)),
    `</td><td style="${middle}">{{ item.quantity }}</td>`,
    price(`<td style="${end}">{{ item.total }}</td>`),
    '</tr>{% endfor %}{% if order.more_items_count > 0 %}',
    `<tr><td colspan="${span}" class="mu" style="${start};${small}">${escapeHtml(before)}{{ order.more_items_count }}${escapeHtml(after)}</td></tr>`,
    '{% endif %}',
    ...(withTotals && withPrices ? totals.map(totalRow) : []),
  ].join('')

  const textLine = (name: (typeof totals)[number]) =>
    when(`order.${name}`, `${escapeLiquid(phrases[name])}: {{ order.${name} }}\n`)
  const text = [
    title ? `${title}\n\n` : '',
    '{% for item in order.items %}- {{ item.quantity }} x {{ item.name }}',
    ...details.map((name) => when(name, `, {{ ${name} }}`)),
    price(': {{ item.total }}'),
    `\n{% endfor %}{% if order.more_items_count > 0 %}${before}{{ order.more_items_count }}${after}\n{% endif %}`,
    ...(withTotals && withPrices ? ['\n', ...totals.map(textLine)] : []),
  ].join('')
  return { rows, text: text.trimEnd() }
}
