const number = String.raw`\d{1,4}(\.\d{1,3})?`
const length = `${number}(px|em|rem|pt|%)?`
const colour = String.raw`(#[0-9a-f]{3,8}|[a-z]{3,24}|rgba?\([\d.,%\s]{1,40}\))`

const oneColour = new RegExp(`^${colour}$`, 'i')
const oneLength = new RegExp(`^${length}$`, 'i')
const lengths = new RegExp(`^${length}( ${length}){0,3}$`, 'i')

/** The allowed properties: those of text, and none that load, move or cover something. */
const allowed: ReadonlyMap<string, RegExp> = new Map(
  Object.entries({
    color: oneColour,
    'background-color': oneColour,
    'text-align': /^(left|right|center|justify)$/i,
    'font-weight': /^(normal|bold|bolder|lighter|[1-9]00)$/i,
    'font-style': /^(normal|italic)$/i,
    'text-decoration': /^(none|underline|line-through)$/i,
    'font-size': oneLength,
    'font-family': /^[a-z\s,'-]{1,120}$/i,
    'line-height': oneLength,
    padding: lengths,
    margin: lengths,
    width: oneLength,
    'max-width': oneLength,
    border: new RegExp(`^${length} (solid|dashed|dotted) ${colour}$`, 'i'),
    'border-radius': oneLength,
  }),
)

/** The declarations that are allowed, for a `style` attribute; null when none is. */
export function safeStyle(style: string): string | null {
  if (style.length > 1000) return null
  const declarations = style.split(';').flatMap((declaration) => {
    const [property = '', ...rest] = declaration.split(':')
    const [name, value] = [property.trim().toLowerCase(), rest.join(':').trim()]
    return allowed.get(name)?.test(value) ? [`${name}: ${value.replaceAll("'", '&#39;')}`] : []
  })
  return declarations.length ? declarations.join('; ') : null
}
