import type { OrderSummaryData } from '../blocks/blocks.ts'
import { light } from '../blocks/theme.ts'
import { escapeHtml, escapeLiquid, textToHtml } from '../escape.ts'
import { type TextReader, readTranslation } from './phrases.ts'

const totalNames = ['subtotal', 'deposit', 'handling_fee', 'service_fee', 'discount', 'total', 'tax'] as const

const bottomBorder = `border-bottom:1px solid ${light.line}`
const firstCell = `padding:10px 8px 10px 0;text-align:left;vertical-align:top;${bottomBorder}`
const middleCell = `padding:10px 8px;text-align:center;vertical-align:top;white-space:nowrap;${bottomBorder}`
const lastCell = `padding:10px 0 10px 8px;text-align:right;vertical-align:top;white-space:nowrap;${bottomBorder}`
const headerText = `font-size:13px;font-weight:600;color:${light.muted}`
const smallText = `font-size:13px;color:${light.muted}`

const ifPresent = (variable: string, content: string): string =>
  `{% unless ${variable} == blank %}${content}{% endunless %}`

/** `rows` are the rows of an HTML table. */
export function renderOrderSummary(data: OrderSummaryData, reader: TextReader): { rows: string; text: string } {
  const { phrases } = reader
  const escapePhrase = (key: (typeof totalNames)[number] | 'item' | 'quantity' | 'amount') => escapeHtml(phrases[key])
  const title = readTranslation(data.title, reader)
  const hasPrices = data.show_prices ?? true
  const hasTotals = data.show_totals ?? true
  const [beforeCount = '', afterCount = ''] = phrases.more.split('%n')
  const details = ['item.variant', 'item.location', 'item.options']

  const ifPrices = (content: string) => (hasPrices ? content : '')
  const renderTotalRow = (name: (typeof totalNames)[number]): string => {
    const weight = name === 'total' ? 'font-size:17px;font-weight:700' : 'font-weight:400'
    const labelStyle = `padding:6px 8px 6px 0;text-align:left;${weight}`
    const amountStyle = `padding:6px 0 6px 8px;text-align:right;white-space:nowrap;${weight}`
    return ifPresent(
      `order.${name}`,
      `<tr><td colspan="2" style="${labelStyle}">${escapePhrase(name)}</td><td style="${amountStyle}">{{ order.${name} }}</td></tr>`,
    )
  }
  const columnCount = hasPrices ? 3 : 2
  const rows = [
    title
      ? `<tr><td colspan="${columnCount}" style="padding:0 0 8px;font-size:18px;font-weight:700;text-align:left">${textToHtml(title)}</td></tr>`
      : '',
    `<tr><th scope="col" class="mu" style="width:60%;${firstCell};${headerText}">${escapePhrase('item')}</th><th scope="col" class="mu" style="${middleCell};${headerText}">${escapePhrase('quantity')}</th>`,
    ifPrices(`<th scope="col" class="mu" style="${lastCell};${headerText}">${escapePhrase('amount')}</th>`),
    '</tr>{% for item in order.items %}',
    `<tr><td style="${firstCell}"><strong>{{ item.name }}</strong>`,
    ...details.map((name) => ifPresent(name, `<br /><span class="mu" style="${smallText}">{{ ${name} }}</span>`)),
    `</td><td style="${middleCell}">{{ item.quantity }}</td>`,
    ifPrices(`<td style="${lastCell}">{{ item.total }}</td>`),
    '</tr>{% endfor %}{% if order.more_items_count > 0 %}',
    `<tr><td colspan="${columnCount}" class="mu" style="${firstCell};${smallText}">${escapeHtml(beforeCount)}{{ order.more_items_count }}${escapeHtml(afterCount)}</td></tr>`,
    '{% endif %}',
    ...(hasTotals && hasPrices ? totalNames.map(renderTotalRow) : []),
  ].join('')

  const renderTotalLine = (name: (typeof totalNames)[number]) =>
    ifPresent(`order.${name}`, `${escapeLiquid(phrases[name])}: {{ order.${name} }}\n`)
  const text = [
    title ? `${title}\n\n` : '',
    '{% for item in order.items %}- {{ item.quantity }} x {{ item.name }}',
    ...details.map((name) => ifPresent(name, `, {{ ${name} }}`)),
    ifPrices(': {{ item.total }}'),
    `\n{% endfor %}{% if order.more_items_count > 0 %}${beforeCount}{{ order.more_items_count }}${afterCount}\n{% endif %}`,
    ...(hasTotals && hasPrices ? ['\n', ...totalNames.map(renderTotalLine)] : []),
  ].join('')
  return { rows, text: text.trimEnd() }
}
