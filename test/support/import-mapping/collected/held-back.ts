import type { CollectedHeader } from './collected-header.ts'

/** Headers whose single results were not looked at while the suggestions were improved. */
export const heldBackHeaders: readonly CollectedHeader[] = [
  {
    about: 'A French box office, reservations',
    source: 'github.com/rembeuch/ArenaMetrics, README.md',
    rows: 'tickets',
    columns: `Numero billet = barcode > item.vendor_code; Reservation = orderno > order.external_id;
      Date reservation = date > order.created; Heure reservation = time > order.created;
      Cle spectacle = eventid; Spectacle = event; Cle representation = eventid; Representation = event;
      Date representation = eventday; Heure representation = eventtime; Date fin representation = eventday;
      Heure fin representation = eventtime; Prix = price > item.unit_price|item.line_total;
      Type de produit = product > item.product; Filiere de vente = channel;
      Nom = buyerlast > customer.last_name; Prenom = buyerfirst > customer.first_name;
      Email = buyermail > customer.email; Adresse = street; Code postal = zip; Pays = country; Age = age;
      Sexe = gender`,
  },
  {
    about: 'TodayTix, sales of a performance',
    source: 'github.com/armandofox/audience1st, spec/test_files/today_tix/valid.csv',
    rows: 'orders',
    columns: `Order # = order > order.external_id; Sale Date = ampm > order.created;
      Section = section > -|item.product|item.variant; # of Seats = tickets > item.quantity;
      Pickup First Name = buyerfirst > -|item.user.first_name;
      Pickup Last Name = buyerlast > -|item.user.last_name;
      Purchaser First Name = buyerfirst > customer.first_name;
      Purchaser Last Name = buyerlast > customer.last_name; Email = buyermail > customer.email; Row = letter;
      Start = count; End = count; Total Price = total > order.amount|item.line_total;
      Performance Date = eventampm; Zip Code = zip`,
  },
  {
    about: 'OSEM, registrations',
    source: 'github.com/openSUSE/osem, app/views/admin/registrations/index.csv.haml',
    rows: 'orders',
    columns: `Attended = cross; Name = buyer > customer.full_name|item.user.full_name; Nickname = nick;
      Affilιation = company; Email = buyermail > customer.email|item.user.email; Arrival = eventdate;
      Departure = eventdate`,
  },
  {
    about: 'TiBillet, tickets',
    source: 'github.com/TiBillet/Lespass, Administration/importers/ticket_exporter.py',
    rows: 'tickets',
    columns: `event_name = event; event_datetime = eventdmy; email = buyermail > customer.email; userId = userid;
      reservation_uuid = uuid > order.external_id; numero_uuid = ticketuuid > item.vendor_code;
      status = scanstatus > item.status|order.status; price_name = variant > item.variant|-;
      product_name = product > item.product; options = blank > -|item.options;
      reservation_datetime = dmytime > order.created; payment_method = methodfr`,
  },
  {
    about: 'Chuckl, orders with amounts in pence',
    source: 'github.com/harrisonchuckl/chuckl-ticketing, backend/src/routes/admin-exports.ts',
    rows: 'orders',
    columns: `order_id = uuid > order.external_id; created_at = iso > order.created; status = paid > order.status;
      buyer_email = buyermail > customer.email; stripe_payment_intent = payment > order.payment_reference;
      show_id = eventuuid; show_title = event > -|item.product; quantity = tickets > item.quantity;
      gross_amount_pence = totalcents; platform_fee_pence = feecents; organiser_share_pence = feecents;
      our_share_pence = feecents; payment_fee_pence = feecents; net_payout_pence = totalcents;
      organiser_id = eventuuid; organiser_email = organiser; organiser_split_bps = bps`,
  },
  {
    about: 'Ubersystem, purchasers of badges',
    source: 'github.com/magfest/ubersystem, uber/site_sections/budget.py',
    rows: 'orders',
    columns: `Purchaser ID = uuid; First Name = buyerfirst > customer.first_name;
      Last Name = buyerlast > customer.last_name; Legal Name = blank; Email = buyermail > customer.email;
      Country = country; Region = blank; City = city; ZipCode = zip; Address 1 = street; Address 2 = blank;
      Purchaser Badge Type = product > item.product|-; Purchaser Badge # = count > -|item.vendor_code;
      Total Purchases = total > order.amount|item.line_total|-; Total Credit = zero; # Day Badges = nil;
      # Group Badges = nil; # Attendee Badges = tickets > -|item.quantity; # Sponsor Upgrades = nil;
      # Shiny Upgrades = nil; # Day-to-Attendee Upgrades = nil`,
  },
  {
    about: 'Audience1st, orders to fulfil',
    source: 'github.com/armandofox/audience1st, app/services/reports/unfulfilled_orders_report.rb',
    rows: 'orders',
    columns: `First name = buyerfirst > customer.first_name; Last name = buyerlast > customer.last_name;
      Email = buyermail > customer.email; Street = street; City = city; State = blank; Zip = zip;
      Sold on = isoday > order.created; Quantity = tickets > item.quantity; Product = product > item.product`,
  },
  {
    about: 'A booking script in PHP, bookings',
    source: 'public source code of an event shop (App\\Exports\\BookingExport)',
    rows: 'orders',
    columns: `Booking Id = hex > order.external_id; Event = event > -|item.product;
      Customer Name = buyer > customer.full_name|-; Discount = zerodollar > order.discount|-;
      Early Bird Discount = zerodollar; Quantity = tickets > item.quantity;
      Total = totaldollar > order.amount|item.line_total;
      Name = buyer > customer.full_name|item.user.full_name|-; Email = buyermail > customer.email;
      Phone = phone > customer.phone_number; City = city; State = blank; Country = country; Zip Code = zip;
      Gateway = gateway > order.payment_service|-; Payment Status = paid > order.status;
      Date = datetime > order.created`,
  },
  {
    about: 'A ticket site with tiers, bookings',
    source: 'public source code of a bookings page (generateBookingsCsv)',
    rows: 'orders',
    columns: `Booking ID = uuid > order.external_id; Event = event; User Name = buyer > customer.full_name;
      Phone = phone > customer.phone_number; Ticket Tier = product > item.product|item.variant;
      Quantity = tickets > item.quantity; Amount = total > order.amount|item.line_total;
      Date = datetime > order.created; Redeemed = yes; Payment ID = payment > order.payment_reference`,
  },
  {
    about: 'A ticket service in C#, attendees',
    source: 'public source code that streams attendees in batches',
    rows: 'tickets',
    columns: `First Name = first > item.user.first_name|customer.first_name;
      Last Name = last > item.user.last_name|customer.last_name; Email = mail > item.user.email|customer.email;
      Ticket Type = product > item.product; Ticket Code = ticket > item.vendor_code;
      Status = attending > item.status|order.status; Price Paid = price > item.unit_price|item.line_total;
      Checked In At = scan`,
  },
  {
    about: 'A ticket shop in C#, guest list',
    source: 'public source code of a guest list (EventGuestListCsvLineProvider)',
    rows: 'tickets',
    columns: `Ticket Number = row > item.vendor_code; Ticket Name = product > item.product;
      Guest Email = mail > item.user.email|customer.email;
      Guest Full Name = person > item.user.full_name|customer.full_name`,
  },
  {
    about: 'A shop in NestJS, orders',
    source: 'public source code of an export of orders',
    rows: 'orders',
    columns: `Order ID = uuid > order.external_id; Order Reference = order > order.order_number|-;
      Order Date = iso > order.created; Status = status > order.status;
      Total Amount = total > order.amount|item.line_total; Subtotal = total; Shipping Cost = zero;
      Tax Amount = zero; Shipping Address = street; Shipping Method = channel;
      Payment Status = paid > -|order.status; Tracking Number = blank;
      Customer Name = buyer > customer.full_name; Customer Email = buyermail > customer.email;
      Items = summary > item.product|-; Notes = text`,
  },
  {
    about: 'A ticket demo, attendees by order',
    source: "public source code of an organiser's page",
    rows: 'tickets',
    columns: `Order Number = order > order.external_id; Customer Name = buyer > customer.full_name;
      Customer Email = buyermail > customer.email; Event Title = event; Ticket Code = ticket > item.vendor_code;
      Status = attending > item.status|order.status; Amount = total > order.amount`,
  },
  {
    about: 'A campus event service, attendees in small letters',
    source: 'public source code of an export of attendees',
    rows: 'orders',
    columns: `attendee name = buyer > item.user.full_name|customer.full_name;
      attendee email = buyermail > item.user.email|customer.email;
      registration status = bookingstatus > order.status|item.status;
      registration timestamp = iso > order.created; check-in status = yes; check-in timestamp = scan`,
  },
  {
    about: 'A guest list in French',
    source: 'a public test of a guest list (GuestListCsv)',
    rows: 'tickets',
    columns: `N° = count; Nom = person > customer.full_name|item.user.full_name;
      Email = mail > customer.email|item.user.email; Réservé le = dmytime > order.created;
      Billet = product > item.product; Montant payé = price > item.unit_price|item.line_total|order.amount;
      Code billet = ticket > item.vendor_code`,
  },
  {
    about: 'A ticket shop, orders with channels',
    source: 'a public browser test that reads an export of orders',
    rows: 'orders',
    columns: `Order reference = order > order.external_id; Buyer name = buyer > customer.full_name;
      Buyer email = buyermail > customer.email; Status = paid > order.status; Tickets = tickets > item.quantity;
      Total = total > order.amount|item.line_total; Currency = currency > order.currency;
      Promo code = code > order.coupon_code; Channel = channel; Booked at = datetime > order.created;
      Paid at = datetime`,
  },
  {
    about: 'A WooCommerce plugin, lines of orders',
    source: 'public source code of a WordPress plugin (get_csv_header_for_order)',
    rows: 'tickets',
    columns: `Order ID = orderno > order.external_id; Order Date = iso > order.created; Completed Date = iso;
      Order Status = status > order.status; Product ID = productid; Product categories = category;
      Quantity = one > item.quantity; Product Name = product > item.product; Payment Method Title = method;
      Order Total = total > order.amount; Sale Price = price > item.unit_price|-; Total Tax Amount = zero;
      _stripe_fee = fee; Refund Total = zero > order.refunded_amount|-; Shipping Cost = zero;
      Discount Amount = zero > order.discount|-; Coupon Code = code > order.coupon_code;
      Customer User ID = buyerid; Billing First Name = buyerfirst > customer.first_name;
      Billing Last Name = buyerlast > customer.last_name; Billing Phone = phone > customer.phone_number;
      Customer Account Email Address = buyermail > customer.email; Shipping Address 1 = street;
      Shipping Address 2 = blank; Shipping City = city; Shipping Postcode = zip; Customer Note = text;
      Delivery Note = blank`,
  },
  {
    about: 'A point of sale, online orders',
    source: 'public source code with a template of online sales',
    rows: 'tickets',
    columns: `Order ID = hashno > order.external_id; Order Date = iso > order.created;
      Customer Name = buyer > customer.full_name; Phone = phone > customer.phone_number;
      Email = buyermail > customer.email; Address = street; City = city; SKU = sku; Barcode = ean;
      Item Name = product > item.product; Qty = one > item.quantity; Unit Price = price > item.unit_price;
      Discount Total = zero > order.discount|-; Payment Method = method; Payment Status = paid > order.status;
      Source = channel; Shop = venue`,
  },
  {
    about: 'A marketplace, orders of a seller',
    source: 'public source code of an export of sub-orders',
    rows: 'orders',
    columns: `Order ID = uuid > order.external_id|-; Order Number = order > order.order_number|order.external_id;
      Sub-Order ID = ticketuuid > -|order.external_id; Created Date = datetime > order.created;
      Status = status > order.status; Buyer Name = buyer > customer.full_name;
      Buyer Email = buyermail > customer.email; Total Amount = total > order.amount|item.line_total;
      Currency = currency > order.currency; Shipping Method = channel; Item Count = tickets > item.quantity|-;
      Shipped Date = blank; Delivered Date = blank`,
  },
  {
    about: 'A contra dance, sheet of registrations',
    source: 'github.com/mgoren/megaband, functions/fields.js',
    rows: 'orders',
    columns: `key = key > order.external_id|-; first = buyerfirst > customer.first_name;
      last = buyerlast > customer.last_name; email = buyermail > customer.email;
      phone = phone > customer.phone_number; admissionQuantity = tickets > item.quantity;
      admissionCost = price > item.unit_price|item.line_total|-; donation = zero;
      total = total > order.amount|item.line_total; deposit = zero > -|item.deposit; owed = zero;
      purchaser = buyer > -|customer.full_name; createdAt = usslash > order.created;
      paymentId = payment > order.payment_reference|order.external_id`,
  },
  {
    about: 'A Brazilian ticket shop, forms of participants',
    source: 'public source code of an export with form fields in Portuguese',
    rows: 'tickets',
    columns: `Nº Pedido = orderno > order.external_id; Nome = buyer > customer.full_name|item.user.full_name;
      E-mail = buyermail > customer.email|item.user.email; Telefone = phone > customer.phone_number;
      Tipo de Ingresso = product > item.product; Código Ingresso = ticket > item.vendor_code;
      Pagamento = methodpt; Status Form = formpt`,
  },
  {
    about: 'Eventbrite, attendees in German',
    source: 'github.com/coderdojo-linz/participants-management-client, queries/badge-creator/badge.js',
    rows: 'tickets',
    columns: `Bestellnr. = orderno > order.external_id; Bestelldatum = zoned > order.created;
      Vorname = first > item.user.first_name|customer.first_name;
      Nachname = last > item.user.last_name|customer.last_name; Ticketart = product > item.product;
      Teilnehmernummer = row > item.vendor_code|-; Barcode-Nr. = barcode > item.vendor_code|-;
      Teilnehmerstatus = attendingde > item.status|-`,
  },
  {
    about: 'An Italian shop for companies, orders',
    source: 'public source code of an export of orders in Italian',
    rows: 'orders',
    columns: `Numero ordine = order > order.external_id; Data = itdate > order.created; Stato = statusit > order.status;
      Azienda = company; P.IVA = blank; Cliente = buyer > customer.full_name;
      Email = buyermail > customer.email; Articoli = tickets > -|item.quantity|item.product;
      Subtotale = totalcomma; IVA = zerocomma; Spedizione = zerocomma;
      Totale = totalcomma > order.amount|item.line_total; Metodo pagamento = methodit; Pagato il = itdate;
      Spedito il = blank; Consegnato il = blank`,
  },
  {
    about: 'An Italian shop, takings',
    source: 'github.com/Atamasc/Sito-e-commerce, crm/admin/ordini-corrispettivi-do.php',
    rows: 'orders',
    columns: `NOMINATIVO = buyer > customer.full_name; NUMERO ORDINE = orderno > order.external_id;
      DATA ORDINE = date > order.created; METODO PAGAMENTO = methodit; IMPORTO = net; IVA = vat;
      TOTALE IVATO = total > order.amount|item.line_total`,
  },
  {
    about: 'A Dutch archery association, registrations',
    source: 'public source code that writes aanmeldingen.csv',
    rows: 'tickets',
    columns: `Reserveringsnummer = row > -|item.vendor_code; Aangemeld op = datetime > order.created;
      Status = statusnl > item.status|order.status; Bestelnummer = mh > order.external_id;
      Prijs = priceeuro > item.unit_price|item.line_total; Korting = discountnl; Ontvangen = priceeuro;
      Retour = zeroeuro > -|order.refunded_amount; Sessie = session; Code = classcode > -|item.variant;
      Wedstrijdklasse = product > item.product|item.variant; Lid nr = member;
      Sporter = person > item.user.full_name|customer.full_name;
      E-mailadres = mail > item.user.email|customer.email; Geslacht = gender; Boog = category; Ver nr = eventid;
      Vereniging = company; Para classificatie = blank; Voorwerpen op schietlijn = blank;
      Para opmerking = blank`,
  },
  {
    about: 'A Belgian club, sales of a shop',
    source: 'public source code of a worksheet of orders in Dutch',
    rows: 'orders',
    columns: `Bestelnummer = order > order.external_id; Datum & Tijd = dmytime > order.created;
      Koper = buyer > customer.full_name; E-mailadres = buyermail > customer.email;
      Bestelde Artikelen = summary > item.product|-; Totaal (€) = totalcomma > order.amount|item.line_total`,
  },
  {
    about: 'A Polish shop, orders with a column for each product',
    source: 'public source code of a WooCommerce theme (wctheme_orders)',
    rows: 'orders',
    columns: `Numer zamówienia = orderno > order.external_id; Imię i nazwisko = buyer > customer.full_name;
      Telefon = phone > customer.phone_number; Bilet dzienny = nil; Karnet = nil; Uwagi do zamówienia = text;
      Kwota dostawy = zerocomma; Wartość zamówienia = totalcomma > order.amount|item.line_total`,
  },
  {
    about: 'A French shop, orders',
    source: 'public source code of an export of commandes in Django',
    rows: 'orders',
    columns: `Numéro de commande = order > order.external_id; Date = isodate > order.created;
      Statut = statusfr > order.status; Prix total = total > order.amount|item.line_total;
      Méthode de paiement = methodfr; Pays = country; Méthode d'expédition = channel`,
  },
  {
    about: 'WooCommerce Customer/Order Export, one row an order',
    source: 'pastebin.com/GyL9anNk',
    rows: 'orders',
    columns: `order_id = orderno > order.external_id;
      order_number_formatted = orderno > -|order.order_number|order.external_id;
      order_number = blank > -|order.order_number; date = usslash > order.created;
      status = status > order.status; order_shipping = nil; order_shipping_tax = nil;
      order_fees = nil > -|order.service_fee; order_fee_tax = nil; order_tax = nil;
      cart_discount = nil > -|order.discount; order_discount = nil > -|order.discount;
      order_total = total > order.amount|item.line_total; payment_method = gateway > -|order.payment_service;
      shipping_method = channel; customer_user = buyermail > -|customer.email;
      billing_first_name = buyerfirst > customer.first_name; billing_last_name = buyerlast > customer.last_name;
      billing_email = buyermail > customer.email; billing_phone = phone > customer.phone_number;
      billing_address_1 = street; billing_address_2 = blank; billing_postcode = zip; billing_city = city;
      billing_state = blank; billing_country = country; billing_company = blank;
      shipping_first_name = buyerfirst; shipping_last_name = buyerlast; shipping_address_1 = street;
      shipping_address_2 = blank; shipping_postcode = zip; shipping_city = city; shipping_state = blank;
      shipping_country = country; shipping_company = blank; customer_note = text;
      order_item_1 = wooitem > -|item.product; order_item_2 = blank; download_permissions_granted = one;
      order_notes = text; shipping_method_1 = wooship; shipping_cost_1 = nil`,
  },
  {
    about: 'ExpressionEngine Store, orders',
    source: 'gist.github.com/3Easy/4e2ca319bbdfd99d4400',
    rows: 'orders',
    columns: `Order ID = count > order.external_id; Email = buyermail > customer.email;
      Shipping Name = buyer > customer.full_name; Shipping Address 1 = street; Shipping Address 2 = blank;
      Shipping City = city; Shipping State = blank; Shipping Postcode = zip; Shipping Country = country;
      Order Items = skus > -|item.product`,
  },
]
