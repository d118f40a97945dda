const number = String.raw`\d{1,4}(\.\d{1,3})?`
const length = `${number}(px|em|rem|pt|%)?`
const colour = String.raw`(#[0-9a-f]{3,8}|[a-z]{3,24}|rgba?\([\d.,%\s]{1,40}\))`

const colourOnly = new RegExp(`^${colour}$`, 'i')
const lengthOnly = new RegExp(`^${length}$`, 'i')
const lengths = new RegExp(`^${length}( ${length}){0,3}$`, 'i')

/** Properties of text. None of them can load, move or cover something. */
const allowedProperties: ReadonlyMap<string, RegExp> = new Map(
  Object.entries({
    color: colourOnly,
    'background-color': colourOnly,
    'text-align': /^(left|right|center|justify)$/i,
    'font-weight': /^(normal|bold|bolder|lighter|[1-9]00)$/i,
    'font-style': /^(normal|italic)$/i,
    'text-decoration': /^(none|underline|line-through)$/i,
    'font-size': lengthOnly,
    'font-family': /^[a-z\s,'-]{1,120}$/i,
    'line-height': lengthOnly,
    padding: lengths,
    margin: lengths,
    width: lengthOnly,
    'max-width': lengthOnly,
    border: new RegExp(`^${length} (solid|dashed|dotted) ${colour}$`, 'i'),
    'border-radius': lengthOnly,
  }),
)

/** Null when no declaration of the `style` attribute is allowed. */
export function cleanStyle(style: string): string | null {
  if (style.length > 1000) return null
  const declarations = style.split(';').flatMap((declaration) => {
    const [property = '', ...rest] = declaration.split(':')
    const [name, value] = [property.trim().toLowerCase(), rest.join(':').trim()]
    return allowedProperties.get(name)?.test(value) ? [`${name}: ${value.replaceAll("'", '&#39;')}`] : []
  })
  return declarations.length ? declarations.join('; ') : null
}
