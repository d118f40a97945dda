import { slugify } from '../../text/slug.ts'
import { type Check, defineChecks, lacksText } from './check.ts'

export const localization: readonly Check[] = defineChecks('localization', [
  {
    id: 'default_enabled',
    severity: 'critical',
    rule: 'The default language is enabled.',
    message: 'The default language is not enabled.',
    suggestion: 'Enable it, or choose another default.',
    fails: ({ edition }) => !edition.enabled_languages.includes(edition.default_language),
  },
  {
    id: 'meta_translated',
    severity: 'warning',
    rule: 'Meta title and description are there in every enabled language.',
    message: 'The meta title or description is missing in an enabled language.',
    suggestion: 'Translate them.',
    fails: ({ edition }) =>
      [edition.meta_title, edition.meta_description].some((texts) => lacksText(texts, edition.enabled_languages)),
  },
  {
    id: 'products_translated',
    severity: 'info',
    rule: 'Names of products are there in every enabled language.',
    message: 'Names of products are missing in an enabled language.',
    suggestion: 'Translate them.',
    fails: ({ edition, products }) => {
      // The name itself is that of the default language.
      const others = edition.enabled_languages.filter((language) => language !== edition.default_language)
      return products.filter((product) => lacksText(product.name_translations, others))
    },
  },
])

export const consents: readonly Check[] = defineChecks('consents', [
  {
    id: 'terms',
    severity: 'warning',
    rule: 'Customers are asked to accept terms or a privacy policy.',
    message: 'No active consent is of type terms or privacy.',
    suggestion: 'Add one.',
    fails: (facts) => !facts.consents.some(({ type }) => type === 'terms' || type === 'privacy'),
  },
  {
    id: 'marketing',
    severity: 'info',
    rule: 'Marketing segments have a marketing consent to go by.',
    message: 'There is a marketing segment, but no consent of type marketing.',
    suggestion: 'Add a consent of type marketing.',
    fails: (facts) => facts.has_marketing_segment && !facts.consents.some(({ type }) => type === 'marketing'),
  },
  {
    id: 'translated',
    severity: 'warning',
    rule: 'Consents are worded in every enabled language.',
    message: 'The text of a consent is missing in an enabled language.',
    suggestion: 'Translate it.',
    fails: ({ edition, consents: asked }) => asked.filter(({ text }) => lacksText(text, edition.enabled_languages)),
  },
])

const isNumbered = (slug: string, base: string): boolean =>
  slug.startsWith(`${base}-`) && /^\d+$/.test(slug.slice(base.length + 1))

export const branding: readonly Check[] = defineChecks('branding', [
  {
    id: 'meta_image',
    severity: 'info',
    rule: 'The edition has a meta image.',
    message: 'There is no meta image.',
    suggestion: 'Upload one.',
    fails: ({ edition }) => edition.meta_image_id === null,
  },
  {
    id: 'slug',
    severity: 'info',
    rule: 'The slug has no number that was only added to make it unique.',
    message: 'The slug was made unique by a number.',
    suggestion: 'Duplicate the edition with a slug of your choice.',
    fails: ({ edition }) => isNumbered(edition.slug, slugify(edition.full_name, 'edition')),
  },
])
