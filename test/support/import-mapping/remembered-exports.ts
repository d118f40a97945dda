import type { ExportHeader } from './export-headers.ts'

/** Headers of exports that were written down from memory. */
export const rememberedExports: readonly ExportHeader[] = [
  {
    about: 'Eventbrite, attendee summary of the United Kingdom',
    rows: 'tickets',
    columns: `Order no. = orderno > order.external_id; Order Date = datetime > order.created; First Name = first > item.user.first_name|customer.first_name;
      Surname = last > item.user.last_name|customer.last_name; Email = mail > customer.email|item.user.email; Quantity = one > item.quantity; Price Tier = blank > -|item.variant; Ticket Type = product > item.product;
      Attendee no. = row > item.vendor_code; Group = blank; Order Type = method; Currency = currency > order.currency; Total Paid = price > item.line_total|item.unit_price|-;
      Fees Paid = fee; Eventbrite Fees = fee; Eventbrite Payment Processing = zero; Attendee Status = attending > item.status`,
  },
  {
    about: 'Hi.Events, attendees',
    rows: 'tickets',
    columns: `ID = row; First Name = first > item.user.first_name|customer.first_name; Last Name = last > item.user.last_name|customer.last_name; Email = mail > item.user.email|customer.email; Status = attending > item.status;
      Is Checked In = yes; Checked In At = scan; Ticket ID = count; Ticket Name = product > item.product; Event ID = one; Public ID = ticket > -|item.vendor_code; Short ID = ticket > -|item.vendor_code;
      Created Date = datetime > order.created|-; Last Updated Date = datetime; Notes = text`,
  },
  {
    about: 'Stripe, balance of charges',
    rows: 'orders',
    columns: `id = payment > order.external_id|order.payment_reference; Created (UTC) = datetime > order.created; Amount = total > order.amount|item.line_total|item.unit_price; Currency = currency > order.currency; Description = text;
      Fee = fee; Customer Email = buyermail > customer.email; Customer Description = blank; Statement Descriptor = event; Status = status > order.status; Seller Message = text`,
  },
  {
    about: 'FIXR, orders of an event',
    rows: 'tickets',
    columns: `Order Reference = order > order.external_id; Ticket Reference = ticket > item.vendor_code; First Name = buyerfirst > customer.first_name; Last Name = buyerlast > customer.last_name; Email = buyermail > customer.email;
      Mobile = phone > customer.phone_number; Ticket Type = product > item.product; Face Value = price > item.unit_price|-; Booking Fee = fee > -|item.handling_fee; Purchased At = datetime > order.created; Rep = blank; Scanned = yes; Marketing = yes > -|consent.marketing`,
  },
  {
    about: 'Fatsoma, guest list',
    rows: 'tickets',
    columns: `Order ID = order > order.external_id; Booking Name = buyer > customer.full_name; Email = buyermail > customer.email; Ticket = product > item.product; Barcode = barcode > item.vendor_code; Price = price > item.unit_price; Date Booked = datetime > order.created; Status = status > order.status|item.status; Entry Time = blank`,
  },
  {
    about: 'See Tickets, customer report',
    rows: 'tickets',
    columns: `Transaction Ref = order > order.external_id; Transaction Date = date > order.created; Customer Title = blank; Customer Forename = buyerfirst > customer.first_name; Customer Surname = buyerlast > customer.last_name; Customer Email = buyermail > customer.email;
      Customer Postcode = zip; Customer Country = country; Performance Date = eventdate; Ticket Type = product > item.product; Tickets = one > item.quantity; Ticket Value = price > -|item.line_total|item.unit_price; Fees = fee; Delivery Method = method`,
  },
  {
    about: 'Ticketmaster, sales detail',
    rows: 'tickets',
    columns: `Event Code = venue; Event Name = event; Event Date = eventdate; Order Number = orderno > order.external_id; Sale Date = datetime > order.created; Section = seat; Row = count; Seat = seat; Price Level = variant > -|item.variant; Ticket Type = product > item.product; Num Tickets = one > item.quantity;
      Face Value = price > -|item.unit_price; Total Price = price > item.line_total|-; Account Name = buyer > customer.full_name|-; Email Address = buyermail > customer.email; Outlet = venue`,
  },
  {
    about: 'AXS, patron extract',
    rows: 'tickets',
    columns: `OrderId = orderno > order.external_id; OrderDate = datetime > order.created; FirstName = buyerfirst > customer.first_name; LastName = buyerlast > customer.last_name; EmailAddress = buyermail > customer.email; PhoneNumber = phone > customer.phone_number; PriceType = product > -|item.product|item.variant; PriceLevel = variant > -|item.variant;
      TicketPrice = price > item.unit_price; Quantity = one > item.quantity; Section = seat; Row = count; Seat = seat; EventTitle = event; OptIn = yes > -|consent.marketing`,
  },
  {
    about: 'Vivaticket, elenco ordini',
    rows: 'tickets',
    columns: `Codice ordine = order > order.external_id; Data ordine = datetime > order.created; Nome = buyerfirst > customer.first_name; Cognome = buyerlast > customer.last_name; Email = buyermail > customer.email; Telefono = phone > -|customer.phone_number; Titolo = product > -|item.product; Prezzo = price > item.unit_price; Codice a barre = barcode > item.vendor_code; Stato = status > order.status|item.status`,
  },
  {
    about: 'Yurplan, orders',
    rows: 'tickets',
    columns: `Order ID = orderno > order.external_id; Order date = datetime > order.created; Buyer firstname = buyerfirst > customer.first_name; Buyer lastname = buyerlast > customer.last_name; Buyer email = buyermail > customer.email; Ticket ID = row > item.vendor_code; Barcode = barcode > item.vendor_code|-; Ticket name = product > item.product; Price = price > item.unit_price; Promo code = code > order.coupon_code; Payment = method`,
  },
  {
    about: 'Eventix, order export',
    rows: 'tickets',
    columns: `Order id = uuid > order.external_id; Order time = datetime > order.created; Ticket = product > item.product; Ticket price = price > item.unit_price; Ticket barcode = barcode > item.vendor_code; Ticket status = attending > item.status; First name = buyerfirst > customer.first_name; Last name = buyerlast > customer.last_name;
      Email = buyermail > customer.email; Gender = blank; Date of birth = birth; Zipcode = zip; City = city; Payment method = method; Tracker = blank`,
  },
  {
    about: 'CM.com, bestellingen',
    rows: 'tickets',
    columns: `Bestelnummer = orderno > order.external_id; Besteldatum = datetime > order.created; Voornaam = buyerfirst > customer.first_name; Achternaam = buyerlast > customer.last_name; E-mailadres = buyermail > customer.email; Telefoonnummer = phone > customer.phone_number; Tickettype = product > item.product; Barcode = barcode > item.vendor_code; Prijs = price > item.unit_price; Servicekosten = fee > -|order.service_fee|item.handling_fee; Nieuwsbrief = yes > -|consent.marketing; Woonplaats = city`,
  },
  {
    about: 'Ticketkantoor, export',
    rows: 'tickets',
    columns: `Ordernr = orderno > order.external_id; Datum aankoop = datetime > order.created; Naam koper = buyer > customer.full_name; E-mail koper = buyermail > customer.email; Kaartsoort = product > item.product; Aantal = one > item.quantity; Bedrag = price > -|item.unit_price|item.line_total; Kaartnummer = barcode > item.vendor_code; Gescand = yes; Zaal = venue`,
  },
  {
    about: 'Billetlugen, salgsliste',
    rows: 'tickets',
    columns: `Ordrenummer = orderno > order.external_id; Købsdato = datetime > order.created; Kunde = buyer > customer.full_name; E-mail = buyermail > customer.email; Mobil = phone > customer.phone_number; Arrangement = event; Billettype = product > item.product; Pris = price > item.unit_price; Gebyr = fee > -|item.handling_fee|order.service_fee; Stregkode = barcode > item.vendor_code; Række = count; Sæde = seat; Salgskanal = method`,
  },
  {
    about: 'Conventus, tilmeldinger',
    rows: 'orders',
    columns: `Tilmeldings-id = row > order.external_id; Hold = product > -|item.product; Fornavn = buyerfirst > customer.first_name; Efternavn = buyerlast > customer.last_name; Adresse = street; Postnr. = zip; By = city; Fødselsdato = birth; E-mail = buyermail > customer.email; Mobil = phone > customer.phone_number; Tilmeldt den = datetime > order.created; Pris = price > item.unit_price|item.line_total|order.amount; Betalt = yes > order.status`,
  },
  {
    about: 'Ticketco, orders',
    rows: 'tickets',
    columns: `Ordre = orderno > order.external_id; Dato = datetime > order.created|-; Navn = buyer > customer.full_name; E-post = buyermail > customer.email; Telefon = phone > customer.phone_number; Billettype = product > item.product; Billett-ID = row > item.vendor_code|-; Beløp = price > -|item.unit_price|item.line_total; Betalingsmåte = method; Status = status > order.status|item.status`,
  },
  {
    about: 'Hoopla, deltakerliste',
    rows: 'tickets',
    columns: `Ordrenr = orderno > order.external_id; Bestilt = datetime > order.created|-; Fornavn = first > item.user.first_name|customer.first_name; Etternavn = last > item.user.last_name|customer.last_name; E-post = mail > customer.email|item.user.email; Mobil = phone > customer.phone_number; Billett = product > item.product; Pris = price > item.unit_price; Strekkode = barcode > item.vendor_code; Innsjekket = yes`,
  },
  {
    about: 'Invajo, anmälda',
    rows: 'tickets',
    columns: `Ordernummer = orderno > order.external_id; Förnamn = first > item.user.first_name|customer.first_name; Efternamn = last > item.user.last_name|customer.last_name; E-post = mail > customer.email|item.user.email; Telefon = phone > customer.phone_number; Företag = blank; Biljett = product > item.product; Pris exkl moms = price > -|item.unit_price; Moms = fee > -|item.tax; Anmäld = datetime > -|order.created; Status = attending > item.status|order.status; Närvarande = yes`,
  },
  {
    about: 'Ticketpark, Bestellungen',
    rows: 'orders',
    columns: `Bestellnummer = orderno > order.external_id; Bestelldatum = datetime > order.created; Vorname = buyerfirst > customer.first_name; Nachname = buyerlast > customer.last_name; E-Mail = buyermail > customer.email; Telefon = phone > customer.phone_number; Strasse = street; PLZ = zip; Ort = city; Anzahl Tickets = tickets > item.quantity; Total = total > order.amount|item.line_total; Zahlungsart = method; Status = status > order.status; Sprache = language > customer.locale`,
  },
  {
    about: 'Eventfrog, Teilnehmer',
    rows: 'tickets',
    columns: `Ticket-Nr. = barcode > item.vendor_code; Bestell-Nr. = orderno > order.external_id; Bestellt am = datetime > order.created; Kategorie = product > -|item.product; Preis = price > item.unit_price; Währung = currency > order.currency; Käufer Vorname = buyerfirst > customer.first_name; Käufer Nachname = buyerlast > customer.last_name; Käufer E-Mail = buyermail > customer.email; Teilnehmer Vorname = first > item.user.first_name; Teilnehmer Nachname = last > item.user.last_name; Eingecheckt = yes`,
  },
  {
    about: 'XING Events, Teilnehmerliste',
    rows: 'tickets',
    columns: `Auftragsnummer = orderno > order.external_id; Ticketnummer = barcode > item.vendor_code; Ticketkategorie = product > item.product; Preis brutto = price > item.unit_price; Anrede = blank; Vorname = first > item.user.first_name|customer.first_name; Nachname = last > item.user.last_name|customer.last_name; Firma = blank; E-Mail = mail > customer.email|item.user.email; Kaufdatum = datetime > order.created; Ticketstatus = attending > item.status; Zahlungsart = method; Rabattcode = code > order.coupon_code`,
  },
  {
    about: 'Going., zamówienia',
    rows: 'tickets',
    columns: `Numer zamówienia = orderno > order.external_id; Data zakupu = datetime > order.created; Imię = buyerfirst > customer.first_name; Nazwisko = buyerlast > customer.last_name; E-mail = buyermail > customer.email; Rodzaj biletu = product > item.product; Cena = price > item.unit_price; Kod biletu = barcode > item.vendor_code; Status płatności = status > order.status; Telefon = phone > customer.phone_number; Zgoda marketingowa = yes > -|consent.marketing`,
  },
  {
    about: 'eWejściówki, lista uczestników',
    rows: 'tickets',
    columns: `Nr zamówienia = orderno > order.external_id; Data zamówienia = datetime > order.created; Kupujący = buyer > customer.full_name; Email kupującego = buyermail > customer.email; Uczestnik = person > item.user.full_name; Email uczestnika = mail > item.user.email; Typ biletu = product > item.product; Kwota = price > -|item.unit_price|item.line_total; Kod kreskowy = barcode > item.vendor_code; Wykorzystany = yes`,
  },
  {
    about: 'Moshtix, order report',
    rows: 'tickets',
    columns: `Order Number = orderno > order.external_id; Order Date = datetime > order.created; Order Status = status > order.status; First Name = buyerfirst > customer.first_name; Last Name = buyerlast > customer.last_name; Email = buyermail > customer.email; Phone = phone > customer.phone_number; Post Code = zip; Ticket Type = product > item.product; Ticket Number = barcode > item.vendor_code; Ticket Price = price > item.unit_price; Booking Fee = fee > -|item.handling_fee|order.service_fee; Promo Code = code > order.coupon_code; Gate Status = attending > -|item.status`,
  },
  {
    about: 'Oztix, patrons',
    rows: 'tickets',
    columns: `Booking ID = orderno > order.external_id; Purchased = datetime > -|order.created; Name = buyer > customer.full_name; Email = buyermail > customer.email; Mobile = phone > customer.phone_number; Ticket = product > item.product; Qty = one > item.quantity; Price = price > item.unit_price; Barcode = barcode > item.vendor_code; Scanned At = scan; Postcode = zip`,
  },
  {
    about: 'Eventfinda, orders',
    rows: 'orders',
    columns: `Order Ref = order > order.external_id; Purchase Date = datetime > order.created; Customer Name = buyer > customer.full_name; Customer Email = buyermail > customer.email; Customer Phone = phone > customer.phone_number; Number of Tickets = tickets > item.quantity; Order Total = total > order.amount; Payment Method = method; Payment Status = status > order.status; Refunded = zero > order.refunded_amount|-; Event = event; Session = eventdate`,
  },
  {
    about: 'iTicket, sales',
    rows: 'tickets',
    columns: `Txn = orderno > -|order.external_id; Txn Date = datetime > -|order.created; Buyer = buyer > customer.full_name; Buyer Email = buyermail > customer.email; Ticket Category = product > item.product; Ticket Price = price > item.unit_price; Fee = fee > -|item.handling_fee|order.service_fee; Ticket Barcode = barcode > item.vendor_code; Seat = seat; Cancelled = yes > -|item.status|order.status`,
  },
  {
    about: 'Quicket, guest list',
    rows: 'tickets',
    columns: `Order Number = orderno > order.external_id; Order Date = datetime > order.created; Purchaser Name = buyer > customer.full_name; Purchaser Email = buyermail > customer.email; Ticket Type = product > item.product; Ticket Number = barcode > item.vendor_code; Attendee First Name = first > item.user.first_name; Attendee Surname = last > item.user.last_name; Attendee Email = mail > item.user.email; Price = price > item.unit_price; Discount Code = code > order.coupon_code; Checked In = yes; Complimentary = yes`,
  },
  {
    about: 'Howler, ticket export',
    rows: 'tickets',
    columns: `Ticket ID = row > item.vendor_code; Ticket Type = product > item.product; Purchase ID = orderno > order.external_id; Purchase Date = datetime > order.created; Buyer First Name = buyerfirst > customer.first_name; Buyer Last Name = buyerlast > customer.last_name; Buyer Email = buyermail > customer.email; Buyer Cellphone = phone > customer.phone_number; Ticket Price = price > item.unit_price; Payment Type = method; Wristband UID = blank; Gender = blank; Birthday = birth`,
  },
  {
    about: 'Townscript, registrations',
    rows: 'tickets',
    columns: `Registration Id = uuid > order.external_id; Registration Date = datetime > order.created; User Name = buyer > customer.full_name; User Email Id = buyermail > customer.email; Contact No = phone > customer.phone_number; Ticket Name = product > item.product; Ticket Price = price > item.unit_price; Unique Order Id = ticket > -|item.vendor_code; Discount Code = code > order.coupon_code; Payment Mode = method; Check-in Status = yes`,
  },
  {
    about: 'Sympla, participantes',
    rows: 'tickets',
    columns: `Nº ingresso = barcode > item.vendor_code; Nº pedido = order > order.external_id; Nome = first > item.user.first_name|customer.first_name; Sobrenome = last > item.user.last_name|customer.last_name; Tipo de ingresso = product > item.product; Valor = price > -|item.unit_price|item.line_total; Data compra = datetime > order.created; Estado de pagamento = status > order.status; E-mail = mail > customer.email|item.user.email; Check-in = yes`,
  },
  {
    about: 'Zoho Backstage, orders',
    rows: 'tickets',
    columns: `Order ID = orderno > order.external_id; Booking ID = order > order.order_number|-; Purchaser Name = buyer > customer.full_name; Purchaser Email = buyermail > customer.email; Ticket Class = product > item.product; Ticket ID = ticket > item.vendor_code; Attendee Name = person > item.user.full_name; Attendee Email = mail > item.user.email; Amount = price > -|item.unit_price|item.line_total; Order Status = status > order.status; Ordered On = datetime > order.created; Payment Option = method`,
  },
  {
    about: 'Bizzabo, registrations',
    rows: 'tickets',
    columns: `Registration ID = row; Order ID = orderno > order.external_id; First Name = first > item.user.first_name|customer.first_name; Last Name = last > item.user.last_name|customer.last_name; Email = mail > customer.email|item.user.email; Company = blank; Title = blank; Ticket Name = product > item.product; Ticket Price = price > item.unit_price; Currency = currency > order.currency; Registration Date = datetime > order.created; Payment Status = status > order.status; Promo Code = code > order.coupon_code; Checked-in = yes`,
  },
  {
    about: 'Swoogo, registrants',
    rows: 'tickets',
    columns: `ID = row > -|item.vendor_code; Registrant Type = product > -|item.product; Group ID = orderno > -|order.external_id; First Name = first > item.user.first_name|customer.first_name; Last Name = last > item.user.last_name|customer.last_name; Email = mail > customer.email|item.user.email; Mobile Phone = phone > customer.phone_number; Registration Status = attending > order.status|item.status; Created At = datetime > order.created; Reference = ticket > -|item.vendor_code; Gross = price > -|item.line_total|item.unit_price; Balance Due = zero`,
  },
  {
    about: 'EventCreate, attendees',
    rows: 'tickets',
    columns: `Attendee ID = row > item.vendor_code|-; Order ID = orderno > order.external_id; Date Registered = datetime > order.created; Attendee Name = person > item.user.full_name; Attendee Email = mail > item.user.email; Buyer Name = buyer > customer.full_name; Buyer Email = buyermail > customer.email; Ticket Type = product > item.product; Ticket Price = price > item.unit_price; Checked In = yes`,
  },
  {
    about: 'Ticketbud, attendees',
    rows: 'tickets',
    columns: `Order Number = orderno > order.external_id; Buyer First Name = buyerfirst > customer.first_name; Buyer Last Name = buyerlast > customer.last_name; Buyer Email = buyermail > customer.email; Ticket Name = product > item.product; Ticket Price = price > item.unit_price; Service Fee = fee > -|item.handling_fee|order.service_fee; Ticket Code = barcode > item.vendor_code; Attendee Name = person > item.user.full_name; Purchased On = datetime > order.created; Refunded = yes > -|order.status|item.status`,
  },
  {
    about: 'Purplepass, sales',
    rows: 'orders',
    columns: `Confirmation # = order > order.external_id; Purchase Date/Time = datetime > order.created; Name = buyer > customer.full_name; E-mail = buyermail > customer.email; Phone = phone > customer.phone_number; Zip = zip; Ticket Type = product > item.product; Qty = tickets > item.quantity; Price = price > item.unit_price; Total = total > order.amount|item.line_total; Status = status > order.status; IP Address = blank`,
  },
  {
    about: 'TicketSpice, registrants',
    rows: 'tickets',
    columns: `Order ID = orderno > order.external_id; Order Number = order > order.order_number|-; Transaction ID = payment > order.payment_reference; Status = status > order.status|item.status; Date = datetime > order.created|-; Billing First Name = buyerfirst > customer.first_name; Billing Last Name = buyerlast > customer.last_name; Billing Email = buyermail > customer.email; Ticket Level = product > -|item.product; Barcode = barcode > item.vendor_code; Amount = price > -|item.unit_price|item.line_total; Coupon Code = code > order.coupon_code; Checked In = yes`,
  },
  {
    about: 'Showpass, orders',
    rows: 'tickets',
    columns: `Transaction ID = orderno > order.external_id|order.payment_reference; Created = datetime > order.created; Customer First Name = buyerfirst > customer.first_name; Customer Last Name = buyerlast > customer.last_name; Customer Email = buyermail > customer.email; Item = product > item.product; Item Price = price > item.unit_price; Quantity = one > item.quantity; Barcode = barcode > item.vendor_code; Payment Type = method; Discount = zero > -|order.discount; Currency = currency > order.currency`,
  },
  {
    about: 'Softticket, Buchungen',
    rows: 'tickets',
    columns: `Buchungs-Nr = orderno > order.external_id; Buchungszeit = datetime > order.created; Kundenname = buyer > customer.full_name; Kunden-E-Mail = buyermail > customer.email; Preisgruppe = product > -|item.product|item.variant; Ermäßigung = variant > -|item.variant; Ticketpreis = price > item.unit_price; VVK-Gebühr = fee > -|item.handling_fee; Barcode = barcode > item.vendor_code; Reihe = count; Platz = seat; Storniert = yes > -|item.status|order.status`,
  },
  {
    about: 'Event Smart, registrations',
    rows: 'tickets',
    columns: `Transaction ID = orderno > order.external_id|order.payment_reference; Registration ID = row > -|item.vendor_code; Registration Code = ticket > item.vendor_code|-; Registration Date = datetime > order.created; Attendee First Name = first > item.user.first_name; Attendee Last Name = last > item.user.last_name; Attendee Email = mail > item.user.email; Ticket = product > item.product; Final Price = price > -|item.unit_price|item.line_total; Registration Status = attending > item.status|order.status; Payment Method = method`,
  },
  {
    about: 'Vendini, patron list',
    rows: 'tickets',
    columns: `Order # = orderno > order.external_id; Order Date = date > order.created; Patron First = buyerfirst > -|customer.first_name; Patron Last = buyerlast > -|customer.last_name; Patron Email = buyermail > -|customer.email; Patron Phone = phone > -|customer.phone_number; Performance = eventdate; Ticket Type = product > item.product; Ticket Qty = one > item.quantity; Ticket Amount = price > -|item.line_total|item.unit_price; Order Total = total > order.amount; Seat = seat`,
  },
]
