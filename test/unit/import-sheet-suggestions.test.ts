import { describe, expect, it } from 'vitest'
import { sheet, listSuggested, listTargets } from '../support/import-mapping/sheets.ts'

describe('suggestions for sheets', () => {
  it('do not take products, places or kinds of customers for names of people', async () => {
    const rows = [
      '1;a@example.test;Dagsbillet;1;100',
      '2;b@example.test;Partout;1;500',
      '3;c@example.test;Dagsbillet;2;100',
    ]
    expect(await listSuggested('Ordre;E-mail;Navn;Antal;Pris', ...rows)).toMatchObject({ Navn: 'nothing' })
    expect(await listSuggested('Ordre;E-mail;Kunde;Antal;Pris', ...rows)).toMatchObject({ Kunde: 'nothing' })
  })

  it('recognise people by the usual words for them', async () => {
    const rows = ['1;Ida Holm;a@example.test;Bo Ek;Dag;100', '1;Ida Holm;a@example.test;Cy Fo;Dag;100']
    expect(await listSuggested('Ordre;Køber;E-mail;Deltager;Billet;Pris', ...rows)).toMatchObject({
      Køber: 'customer.full_name',
      Deltager: 'item.user.full_name',
    })
    const german = ['1;Müller, Jürgen;a@example.test;Dag;100', '2;Weiß, Käthe;b@example.test;Dag;100']
    expect(await listSuggested('Nr.;Name, Vorname;E-Mail;Karte;Preis', ...german)).toMatchObject({
      'Name, Vorname': 'customer.full_name',
    })
    const english = ['1;Ida;Holm;a@example.test;Dag;100', '2;Bo;Ek;b@example.test;Dag;100']
    expect(await listSuggested('Order;First;Last;Email;Ticket;Price', ...english)).toMatchObject({
      First: 'customer.first_name',
      Last: 'customer.last_name',
    })
  })

  it('take the status of tickets for that of tickets, and no total of a row for that of the order', async () => {
    const rows = ['1;a@example.test;T-1;Dag;100;Betalt;100', '1;a@example.test;T-2;Barn;50;Refunderet;50']
    const file = await sheet(['Ordrenr.;E-mail;Billetnr.;Billettype;Pris;Status;Total', ...rows])
    expect(listTargets(file)).toMatchObject({ Status: 'item.status', Total: 'nothing' })
    expect(file.orders).toMatchObject([{ items: [{ status: 'active' }, { status: 'cancelled' }] }])
  })

  it('do not take future days for days of orders', async () => {
    const rows = ['1;a@example.test;Dag;100;2027-06-05', '2;b@example.test;Dag;100;2027-06-06']
    expect(await listSuggested('Ordre;E-mail;Billet;Pris;Dato', ...rows)).toMatchObject({ Dato: 'nothing' })
  })

  it('recognise telephone numbers in different spellings', async () => {
    const rows = [
      "1;a@example.test;Dag;100;'+45 20 12 34 56",
      "2;b@example.test;Dag;100;'20123457",
      '3;c@example.test;Dag;100;n/a',
    ]
    expect(await listSuggested('Ordre;E-mail;Billet;Pris;Mobilnr.', ...rows)).toMatchObject({
      'Mobilnr.': 'customer.phone_number',
    })
  })

  it.each([
    ['Betalt', 'ja', 'nej'],
    ['Bezahlt?', 'Ja', 'Nein'],
    ['Paid', 'TRUE', 'FALSE'],
    ['Opłacone', 'tak', 'nie'],
  ])('take %s with %s and %s for a status', async (name, yes, no) => {
    const rows = [`1;a@example.test;Dag;100;${yes}`, `2;b@example.test;Dag;100;${no}`]
    const file = await sheet([`Ordre;E-mail;Billet;Pris;${name}`, ...rows])
    expect(listTargets(file)).toMatchObject({ [name]: `order.status` })
    expect(file.orders).toMatchObject([{ status: 'completed' }, { status: 'pending' }])
  })

  it('do not take amounts and payment days for a status', async () => {
    const rows = ['1;a@example.test;Dag;100;100,00', '2;b@example.test;Dag;100;50,00']
    expect(await listSuggested('Ordre;E-mail;Billet;Pris;Betalt', ...rows)).toMatchObject({ Betalt: 'nothing' })
  })

  it('recognise the day of an order by other words', async () => {
    const rows = ['1;a@example.test;Dag;100;2026-05-01 10:00', '2;b@example.test;Dag;100;2026-05-02 10:00']
    for (const name of ['Placed', 'Sold at', 'Bokad', 'Bestilt d.', 'Timestamp', 'Tidsstempel', 'Zeitstempel'])
      expect(await listSuggested(`Ordre;E-mail;Billet;Pris;${name}`, ...rows)).toMatchObject({
        [name]: 'order.created',
      })
  })
})
