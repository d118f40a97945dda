import type { Network } from './blocks.ts'
import type { Phrases } from '../messages/phrases.ts'

const names: Record<Exclude<Network, 'website'>, string> = {
  facebook: 'Facebook',
  instagram: 'Instagram',
  x: 'X',
  linkedin: 'LinkedIn',
  youtube: 'YouTube',
  tiktok: 'TikTok',
  spotify: 'Spotify',
}

export const networkColours: Record<Network, string> = {
  facebook: '#0866ff',
  instagram: '#c13584',
  x: '#3f3f46',
  linkedin: '#0a66c2',
  youtube: '#c4302b',
  tiktok: '#3f3f46',
  spotify: '#15803d',
  website: '#52525b',
}

export const networkName = (network: Network, phrases: Phrases): string =>
  network === 'website' ? phrases.website : names[network]
