import { from, type Preset } from './preset.ts'

const attendee = 'Attendee name|Name Teilnehmer*in|Teilnehmername|Deltagernavn|Deltagers navn'
const invoice =
  'Invoice address name|Rechnungsadresse: Name|Invoice address: Name|Fakturaadresse: Navn|Fakturaadresse navn'

const partsOf = (names: string, parts: string): string =>
  names
    .split('|')
    .flatMap((name) => parts.split('|').map((part) => `${name}: ${part}`))
    .join('|')

const given = 'Given name|Vorname|Fornavn'
const family = 'Family name|Nachname|Efternavn'

/**
 * pretix, order positions: `iterate_positions` of pretix/base/exporters/orderlist.py in English, German, and Danish as
 * its locale/da has it (`Bestillingskode`, `Bestillingsdato`); what is not translated there stays English. The status is
 * the position's, times are local to the event, and there is no currency.
 */
export const pretix: Preset = {
  source: 'pretix',
  label: 'pretix order positions',
  signature: [
    'Order code|Bestellnummer|Bestillingskode',
    'Order date|Bestelldatum|Bestillingsdato',
    'Order time|Bestelluhrzeit|Bestillingstidspunkt|Bestillingstid',
    'Product|Produkt',
    'Variation|Variante|Variant',
    'Price|Preis|Pris',
    attendee,
  ],
  group_by: 'external_id',
  targets: {
    'order.external_id': from('Order code|Bestellnummer|Bestillingskode'),
    'order.created': from(
      'Order date|Bestelldatum|Bestillingsdato',
      'Order time|Bestelluhrzeit|Bestillingstidspunkt|Bestillingstid',
    ),
    'customer.email': from('Email|E-Mail|E-mail'),
    'customer.phone_number': from('Phone number|Telefonnummer|Telefon'),
    'customer.first_name': from(partsOf(invoice, given)),
    'customer.last_name': from(partsOf(invoice, family)),
    'customer.full_name': from(invoice),
    'customer.locale': from('Order locale|Bestellsprache|Order language|Bestillingssprog'),
    'item.product': from('Product|Produkt'),
    'item.variant': from('Variation|Variante|Variant'),
    'item.unit_price': from('Price|Preis|Pris'),
    'item.status': from('Status'),
    'item.vendor_code': from('Ticket secret|Ticket code|Ticket-Code|Billetkode'),
    'item.valid_until': from('Valid until|Gültig bis|Gyldig til'),
    'item.user.email': from('Attendee email|E-Mail Teilnehmer*in|Teilnehmer-E-Mail|Deltager e-mail|Deltagers e-mail'),
    'item.user.first_name': from(partsOf(attendee, given)),
    'item.user.last_name': from(partsOf(attendee, family)),
    'item.user.full_name': from(attendee),
  },
}
