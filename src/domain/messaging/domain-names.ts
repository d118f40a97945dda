import { hasInvisible } from '../text/invisible.ts'

/**
 * Converts a domain to the form that DNS has, without a dot at the end. Returns null for a text that is no domain. The
 * result may still contain characters that no label has.
 */
export function toAsciiDomain(text: string): string | null {
  const domain = text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[.。]$/, '')
  if (/^[a-z0-9.-]*$/.test(domain) && !domain.includes('xn--')) return domain
  // This refuses characters that have a meaning in a URL, such as those of a port or a path.
  if (!/^[\p{L}\p{N}\p{M}\p{So}.。-]+$/u.test(domain) || !URL.canParse(`http://${domain}`)) return null
  return new URL(`http://${domain}`).hostname
}

const digits = 'abcdefghijklmnopqrstuvwxyz0123456789'

/** Decodes Punycode by the names and numbers of RFC 3492. Returns null for a text that is no Punycode. */
function decodePunycode(text: string): string | null {
  const delimiter = Math.max(0, text.lastIndexOf('-'))
  const codes = Array.from(text.slice(0, delimiter), (letter) => letter.charCodeAt(0))
  let [code, index, bias, at] = [128, 0, 72, delimiter > 0 ? delimiter + 1 : 0]
  while (at < text.length) {
    const indexBefore = index
    for (let weight = 1, k = 36; ; k += 36) {
      const digit = at < text.length ? digits.indexOf(text.charAt(at++)) : -1
      if (digit < 0) return null
      index += digit * weight
      const threshold = Math.min(26, Math.max(1, k - bias))
      if (digit < threshold) break
      weight *= 36 - threshold
    }
    const length = codes.length + 1
    let delta = Math.floor((index - indexBefore) / (indexBefore === 0 ? 700 : 2))
    delta += Math.floor(delta / length)
    bias = 0
    for (; delta > 455; bias += 36) delta = Math.floor(delta / 35)
    bias += Math.floor((36 * delta) / (delta + 38))
    code += Math.floor(index / length)
    if (code > 0x10_ff_ff) return null
    index %= length
    codes.splice(index++, 0, code)
  }
  return String.fromCodePoint(...codes)
}

/**
 * Converts a domain from the form that DNS has to Unicode. A domain that Unicode cannot write unambiguously and visibly
 * stays as it is, so that each domain has one form.
 */
export function toUnicodeDomain(ascii: string): string {
  if (!ascii.includes('xn--')) return ascii
  const labels = ascii.split('.').map((label) => (label.startsWith('xn--') ? decodePunycode(label.slice(4)) : label))
  const domain = labels.join('.')
  return !labels.includes(null) && !hasInvisible(domain) && toAsciiDomain(domain) === ascii ? domain : ascii
}
